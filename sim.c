#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <stdint.h>
static uint64_t st=88172645463325252ull;
static uint64_t nx(void){st^=st<<13;st^=st>>7;st^=st<<17;return st*0x2545F4914F6CDD1DULL;}
static double U(void){return ((nx()>>11)+0.5)/9007199254740992.0;}
static double N(void){return sqrt(-2*log(U()))*cos(2*M_PI*U());}
static int cmp(const void*a,const void*b){double x=*(double*)a,y=*(double*)b;return x<y?-1:x>y;}
static double med(double*v,int n){double t[512];memcpy(t,v,n*8);qsort(t,n,8,cmp);return n%2?t[n/2]:(t[n/2-1]+t[n/2])/2;}
/* log of value; median 0 */
static double draw(int d){switch(d){
case 0:return .03*N();
case 1:return log((1-.02*log(U()))/(1+.02*M_LN2));
case 2:{double u=U();double x=log((1-.02*log(u))/(1+.02*M_LN2)); if(U()<.05)x+=log(1.1+.5*U());return x;}
case 3:return .3*N();
case 4:{double g=0;for(int i=0;i<2;i++)g-=log(U());return log(1+.05*g);} }return 0;}
#define B 999
static double qn(double p){/*normal quantile via bisection*/double a=-8,b=8;for(int i=0;i<60;i++){double m=(a+b)/2;if(0.5*erfc(-m/M_SQRT2)<p)a=m;else b=m;}return (a+b)/2;}
int main(int c,char**v){int trials=atoi(v[1]);
 double tq[]={2.262,2.093,2.001};int ns[]={10,20,60};
 for(int d=0;d<5;d++){ double m0=0; {double *t=malloc(400001*8);for(int i=0;i<400001;i++)t[i]=draw(d);qsort(t,400001,8,cmp);m0=t[200000];free(t);} (void)m0;
 for(int ni=0;ni<3;ni++)for(int dr=0;dr<2;dr++){int n=ns[ni];int miss[8]={0};double wid[8]={0};
  for(int t=0;t<trials;t++){double b[64],o[64];for(int i=0;i<n;i++){double m=dr?.06*(double)i/n+(i>n/2?.02:0):0;b[i]=draw(d)+m;o[i]=draw(d)+m;}
   double est=med(o,n)-med(b,n);
   static double ru[B],rp[B],rs[B];double x[64],y[64];
   double sb[64];memcpy(sb,b,n*8);qsort(sb,n,8,cmp);double so[64];memcpy(so,o,n*8);qsort(so,n,8,cmp);
   double hb=.9*(sb[3*n/4]-sb[n/4])/1.34*pow(n,-.2)*.5,ho=.9*(so[3*n/4]-so[n/4])/1.34*pow(n,-.2)*.5;
   double s1=0,s2=0,p1=0,p2=0;
   for(int r=0;r<B;r++){for(int i=0;i<n;i++){x[i]=b[nx()%n];y[i]=o[nx()%n];}ru[r]=med(y,n)-med(x,n);s1+=ru[r];s2+=ru[r]*ru[r];
    for(int i=0;i<n;i++){x[i]+=hb*N();y[i]+=ho*N();}rs[r]=med(y,n)-med(x,n);
    for(int i=0;i<n;i++){int k=nx()%n;x[i]=b[k];y[i]=o[k];}rp[r]=med(y,n)-med(x,n);p1+=rp[r];p2+=rp[r]*rp[r];}
   qsort(ru,B,8,cmp);qsort(rp,B,8,cmp);qsort(rs,B,8,cmp);
   double z=sqrt(n/(n-1.))*tq[ni],al=0.5*erfc(z/M_SQRT2);int kx=(int)(1000*al);if(kx<1)kx=1;
   double lo[8],hi[8];
   lo[0]=ru[24];hi[0]=ru[974];lo[1]=ru[kx-1];hi[1]=ru[999-kx];
   lo[2]=rs[24];hi[2]=rs[974];
   lo[3]=rp[24];hi[3]=rp[974];
   double se=sqrt(s2/B-s1/B*s1/B);lo[4]=est-1.96*se;hi[4]=est+1.96*se;
   double sp=sqrt(p2/B-p1/B*p1/B);lo[5]=est-1.96*sp;hi[5]=est+1.96*sp;
   /* Price-Bonett */
   {int cc=(int)round((n+1)/2.-sqrt(n));if(cc<1)cc=1;double p=0,term=pow(.5,n);for(int i=0;i<cc;i++){p+=term;term*=(double)(n-i)/(i+1);}double zc=qn(1-p);
   double vb=(sb[n-cc]-sb[cc-1])/(2*zc),vo=(so[n-cc]-so[cc-1])/(2*zc);double s=sqrt(vb*vb+vo*vo);lo[6]=est-1.96*s;hi[6]=est+1.96*s;}
   /* signed-rank-free: t on diffs */
   {double m=0,q=0;for(int i=0;i<n;i++)m+=o[i]-b[i];m/=n;for(int i=0;i<n;i++)q+=pow(o[i]-b[i]-m,2);double s=sqrt(q/(n-1)/n);lo[7]=m-tq[ni]*s;hi[7]=m+tq[ni]*s;}
   for(int k=0;k<8;k++){miss[k]+=lo[k]>0||hi[k]<0;wid[k]+=hi[k]-lo[k];}
  }
  printf("d%d n%2d dr%d  ",d,n,dr);const char*nm[]={"pct","exp","smooth","pairpct","se","pairse","PB","t"};for(int k=0;k<8;k++)printf("%s %.1f(%.3f) ",nm[k],100-100.*miss[k]/trials,wid[k]/trials);puts("");fflush(stdout);}}
}
